"""Every feature gate that kube-scheduler v1.36 knows: its stage, whether it is on, what it needs.

Upstream: pkg/features/kube_features.go and what it takes in from client-go, component-base,
          apiserver, apiextensions-apiserver and controller-manager (v1.36.4).

All components of a cluster share one list, so most of these mean nothing to a scheduler.  They
are known here because people hand one `--feature-gates` text to all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec


class Stage(StrEnum):
    """How far a feature has come."""

    ALPHA = "alpha"
    BETA = "beta"
    GA = "GA"
    DEPRECATED = "deprecated"


class Gate(msgspec.Struct, frozen=True):
    """What is known of one gate."""

    stage: Stage
    default: bool
    locked: bool = False


_ALPHA = Gate(Stage.ALPHA, default=False)
_BETA_OFF = Gate(Stage.BETA, default=False)
_BETA_ON = Gate(Stage.BETA, default=True)
_GA = Gate(Stage.GA, default=True)
_GA_LOCKED = Gate(Stage.GA, default=True, locked=True)
_DEPRECATED_OFF = Gate(Stage.DEPRECATED, default=False)
_DEPRECATED_OFF_LOCKED = Gate(Stage.DEPRECATED, default=False, locked=True)
_DEPRECATED_ON = Gate(Stage.DEPRECATED, default=True)
_DEPRECATED_ON_LOCKED = Gate(Stage.DEPRECATED, default=True, locked=True)

_NAMES: Mapping[Gate, str] = {
    _ALPHA: """
        AllowUnsafeMalformedObjectDeletion APIServingWithRoutine CBORServingAndStorage
        ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation
        CloudControllerManagerWebhook ContainerStopSignals CPUManagerPolicyAlphaOptions
        CRIListStreaming CrossNamespaceVolumeDataSource CSIVolumeHealth DRAListTypeAttributes
        DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG
        GangScheduling GenericWorkload HPAScaleToZero ImageVolumeWithDigest
        InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory
        KubeletInUserNamespace LoggingAlphaOptions ManifestBasedAdmissionControlConfig MemoryQoS
        MutablePVNodeAffinity NativeHistograms PersistentVolumeClaimUnusedSinceTime
        PodAndContainerStatsFromCRI PodLevelResourceManagers PodLogsQuerySplitStreams PodsAPI
        QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriAPI ShardedListAndWatch
        StorageCapacityScoring StorageVersionAPI TaintTolerationComparisonOperators
        TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions
        UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity
        WorkloadAwarePreemption WorkloadWithJob
    """,
    _BETA_OFF: """
        ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode
        CoordinatedLeaderElection DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring
        MaxUnavailableStatefulSet PodCertificateRequest SchedulerAsyncAPICalls SELinuxMount
        StorageVersionMigrator
    """,
    _BETA_ON: """
        AllowParsingUserUIDFromCertAuth APIResponseCompression APIServerIdentity AtomicFIFO
        AuthorizePodWebsocketUpgradeCreatePermission ClearingNominatedNodeNameAfterBinding
        ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz
        ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContextualLogging
        CPUManagerPolicyBetaOptions CRDObservedGenerationTracking DeclarativeValidationBeta
        DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency DRAConsumableCapacity
        DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
        DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization
        DRASchedulerFilterTimeout EnvFiles ExtendWebSocketsToKubelet GracefulNodeShutdown
        GracefulNodeShutdownBasedOnPodPriority HostnameOverride HPAConfigurableTolerance
        InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling
        InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax
        KubeletEnsureSecretPulledImages KubeletSeparateDiskGC
        KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
        MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
        MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
        NodeDeclaredFeatures NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching
        PLEGOnDemandRelist PodDeletionCost PodLevelResources PodReadyToStartContainersCondition
        PodTopologyLabelsAdmission PortForwardWebsockets PreventStaticPodAPIReferences
        RelaxedServiceNameValidation ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile
        RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
        RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption
        SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
        StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob
        StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet
        StatefulSetSemanticRevisionComparison StorageVersionHash StrictIPCIDRValidation
        StructuredAuthenticationConfigurationEgressSelector
        StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
        TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
        UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy
        UnlockWhileProcessingFIFO WatchCacheInitializationPostStartHook WatchList WatchListClient
        WindowsGracefulNodeShutdown
    """,
    _GA: """
        AllowServiceExternalIPs CPUCFSQuotaPeriod DRAPrioritizedList InformerResourceVersion
        MutatingAdmissionPolicy
    """,
    _GA_LOCKED: """
        AnonymousAuthConfigurableEndpoints AnyVolumeDataSource APIServerTracing
        AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache ConsistentListFromCache
        CPUManagerPolicyOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets
        CustomResourceFieldSelectors DeclarativeValidation DisableAllocatorDualWrite DRAAdminAccess
        DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner
        ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling
        JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy
        KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPodResourcesDynamicResources
        KubeletPodResourcesGet KubeletPSI KubeletTracing LogarithmicScaleDown
        MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount
        NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap
        OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero
        PodObservedGenerationTracking PodSchedulingReadiness PreferSameTrafficDistribution
        ProcMountType RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
        RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
        ResilientWatchCacheInitialization RetryGenerateName SchedulerQueueingHints
        SELinuxChangePolicy SELinuxMountReadWriteOncePod SeparateTaintEvictionController
        ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
        ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo SidecarContainers
        StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
        StructuredAuthenticationConfiguration SupplementalGroupsPolicy SystemdWatchdog
        TopologyManagerPolicyOptions UserNamespacesSupport VolumeAttributesClass WinDSR WinOverlay
    """,
    _DEPRECATED_OFF: """
        AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests
        ChangeContainerStatusOnKubeletRestart DeclarativeValidationTakeover KMSv1
        KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
    """,
    _DEPRECATED_OFF_LOCKED: """
        AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
    """,
    _DEPRECATED_ON: """
        DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods
        ServiceCIDRStatusFieldWiping StorageNamespaceIndex
    """,
    _DEPRECATED_ON_LOCKED: """
        AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion
    """,
}

KNOWN_GATES: Mapping[str, Gate] = {
    name: gate for gate, names in _NAMES.items() for name in names.split()
}

# A gate that is on needs all of these on, too.
DEPENDENCIES: Mapping[str, tuple[str, ...]] = {
    "AuthorizeNodeWithSelectors": ("AuthorizeWithSelectors",),
    "ClusterTrustBundleProjection": ("ClusterTrustBundle",),
    "DeclarativeValidationBeta": ("DeclarativeValidation",),
    "DeclarativeValidationTakeover": ("DeclarativeValidation",),
    "DisableAllocatorDualWrite": ("MultiCIDRServiceAllocator",),
    "DRAAdminAccess": ("DynamicResourceAllocation",),
    "DRAConsumableCapacity": ("DynamicResourceAllocation",),
    "DRADeviceBindingConditions": (
        "DynamicResourceAllocation",
        "DRAResourceClaimDeviceStatus",
    ),
    "DRADeviceTaintRules": ("DRADeviceTaints",),
    "DRADeviceTaints": ("DynamicResourceAllocation",),
    "DRAExtendedResource": ("DynamicResourceAllocation",),
    "DRAListTypeAttributes": ("DynamicResourceAllocation",),
    "DRANodeAllocatableResources": ("DynamicResourceAllocation",),
    "DRAPartitionableDevices": ("DynamicResourceAllocation",),
    "DRAPrioritizedList": ("DynamicResourceAllocation",),
    "DRAResourceClaimGranularStatusAuthorization": (
        "DynamicResourceAllocation",
        "DRAResourceClaimDeviceStatus",
    ),
    "DRAResourcePoolStatus": ("DynamicResourceAllocation",),
    "DRASchedulerFilterTimeout": ("DynamicResourceAllocation",),
    "DRAWorkloadResourceClaims": (
        "DynamicResourceAllocation",
        "GenericWorkload",
    ),
    "ExtendWebSocketsToKubelet": ("NodeDeclaredFeatures",),
    "GangScheduling": ("GenericWorkload",),
    "GracefulNodeShutdownBasedOnPodPriority": ("GracefulNodeShutdown",),
    "ImageVolumeWithDigest": ("ImageVolume",),
    "InPlacePodLevelResourcesVerticalScaling": (
        "InPlacePodVerticalScaling",
        "PodLevelResources",
        "NodeDeclaredFeatures",
    ),
    "InPlacePodVerticalScalingExclusiveCPUs": ("InPlacePodVerticalScaling",),
    "InPlacePodVerticalScalingExclusiveMemory": ("InPlacePodVerticalScaling",),
    "InPlacePodVerticalScalingInitContainers": (
        "InPlacePodVerticalScaling",
        "NodeDeclaredFeatures",
    ),
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": ("MatchLabelKeysInPodTopologySpread",),
    "PodCertificateRequest": ("AuthorizeNodeWithSelectors",),
    "PodLevelResourceManagers": ("PodLevelResources",),
    "PodLifecycleSleepActionAllowZero": ("PodLifecycleSleepAction",),
    "ProcMountType": ("UserNamespacesSupport",),
    "ResourceHealthStatus": ("DynamicResourceAllocation",),
    "ResourceHealthStatusMessage": ("ResourceHealthStatus",),
    "RestartAllContainersOnContainerExits": (
        "ContainerRestartRules",
        "NodeDeclaredFeatures",
    ),
    "ServiceAccountTokenNodeBinding": ("ServiceAccountTokenNodeBindingValidation",),
    "StaleControllerConsistencyDaemonSet": ("AtomicFIFO",),
    "StaleControllerConsistencyJob": ("AtomicFIFO",),
    "StaleControllerConsistencyReplicaSet": ("AtomicFIFO",),
    "StaleControllerConsistencyStatefulSet": ("AtomicFIFO",),
    "StorageVersionAPI": ("APIServerIdentity",),
    "StructuredAuthenticationConfigurationEgressSelector": (
        "StructuredAuthenticationConfiguration",
    ),
    "StructuredAuthenticationConfigurationJWKSMetrics": ("StructuredAuthenticationConfiguration",),
    "TopologyAwareWorkloadScheduling": ("GenericWorkload",),
    "UnknownVersionInteroperabilityProxy": ("APIServerIdentity",),
    "UserNamespacesHostNetworkSupport": (
        "UserNamespacesSupport",
        "NodeDeclaredFeatures",
    ),
    "WindowsGracefulNodeShutdown": ("GracefulNodeShutdown",),
    "WorkloadAwarePreemption": ("GangScheduling",),
    "WorkloadWithJob": ("GenericWorkload",),
}

_SCHEDULER_NAMES = """
    ComponentFlagz ComponentStatusz ContextualLogging CoordinatedLeaderElection DRAAdminAccess
    DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaintRules DRADeviceTaints
    DRAExtendedResource DRAListTypeAttributes DRANodeAllocatableResources
    DRAPartitionableDevices DRAPrioritizedList DRAResourceClaimDeviceStatus
    DRASchedulerFilterTimeout DRAWorkloadResourceClaims DynamicResourceAllocation GangScheduling
    GenericWorkload InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScaling
    LoggingAlphaOptions LoggingBetaOptions MatchLabelKeysInPodTopologySpread NativeHistograms
    NodeDeclaredFeatures NodeInclusionPolicyInPodTopologySpread NominatedNodeNameForExpectation
    OpportunisticBatching PodLevelResources SchedulerAsyncAPICalls SchedulerAsyncPreemption
    SchedulerPopFromBackoffQ SchedulerQueueingHints SidecarContainers StorageCapacityScoring
    TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling VolumeLimitScaling
    WorkloadAwarePreemption
"""

# What makes a scheduler behave differently; the rest is for other components.
SCHEDULER_GATES = frozenset(_SCHEDULER_NAMES.split())
